import { expect, test, vi } from "vitest";
import { createLogThrottle } from "./log-throttle.ts";

test("what goes wrong again and again is told once a minute, and anything else at once", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    const told: string[] = [];
    const mayLog = createLogThrottle();
    const tell = (line: string) => void (mayLog(line) && told.push(line));
    for (let second = 0; second < 120; second++) {
      tell("a.example: aborted");
      if (second === 5) tell("b.example: Status 502.");
      vi.advanceTimersByTime(1_000);
    }
    expect(told).toEqual(["a.example: aborted", "b.example: Status 502.", "a.example: aborted"]);
  } finally {
    vi.useRealTimers();
  }
});
