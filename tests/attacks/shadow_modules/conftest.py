print("BREACH: nobody reads this")
