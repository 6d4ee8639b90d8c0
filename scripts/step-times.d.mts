export interface StepTime {
  readonly name: string
  /** Seconds. */
  readonly clock: number
  /** Seconds of the processor; undefined where the system does not tell. */
  readonly processor: number | undefined
}
export interface StepTimes {
  end(name: string): void
  table(): string
}
export function startStepTimes(): StepTimes
export function describeSteps(steps: readonly StepTime[]): string
