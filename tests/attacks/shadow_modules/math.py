print("BREACH: this is not math")
