print("BREACH: this is not random")
