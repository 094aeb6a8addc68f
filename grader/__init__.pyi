from grader.drawing.for_you import draw as draw
from grader.drawing.for_you import explain as explain
