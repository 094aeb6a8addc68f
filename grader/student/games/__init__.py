"""Games for students. No other package needs them; they are imported when they are played.

breaking, faults  `grade break`: a fault planted in the student's own solution
catching          `grade catch`: the student's own check against known answers
tracing           `grade trace`: what an exercise does on the simulated accelerator
"""
