print("BREACH: this is not torch")
