print("BREACH: this is not json")
