export interface StepTime {
  readonly name: string
  /** Seconds. */
  readonly clock: number
  /** Seconds of the processor; undefined where the system does not tell. */
  readonly processor: number | undefined
}
export interface StepTimer {
  end(name: string): void
  /** One that ran beside others. */
  add(name: string, seconds: number): void
  table(): string
}
export function startStepTimer(): StepTimer
export function formatStepTimes(steps: readonly StepTime[], all?: Omit<StepTime, 'name'>): string
