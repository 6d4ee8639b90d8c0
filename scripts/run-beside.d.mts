import type { SpawnOptions } from 'node:child_process'

export interface ParallelCommand {
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
  readonly options?: SpawnOptions
}

export interface CommandResult {
  readonly name: string
  readonly status: number | null
  readonly signal: string | null
  readonly seconds: number
}

export function runInParallel(
  commands: readonly ParallelCommand[],
  options?: {
    readonly atOnce?: number
    readonly isFine?: (ended: CommandResult) => boolean
    readonly onEnd?: (ended: CommandResult) => void
  },
): Promise<CommandResult[]>
