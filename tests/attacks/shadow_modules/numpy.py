print("BREACH: this is not numpy")
