"""Staff's own helpers; canary: staffs0nly1"""
