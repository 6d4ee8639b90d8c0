export interface StepTime {
  readonly name: string
  /** Seconds. */
  readonly clock: number
  /** Seconds of the processor; undefined where the system does not tell. */
  readonly processor: number | undefined
}
export interface StepTimes {
  end(name: string): void
  /** One that ran beside others. */
  add(name: string, seconds: number): void
  table(): string
}
export function startStepTimes(): StepTimes
export function describeSteps(steps: readonly StepTime[], all?: Omit<StepTime, 'name'>): string
