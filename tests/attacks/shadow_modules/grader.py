print("BREACH: this is not the grader")
