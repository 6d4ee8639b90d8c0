import type { SpawnOptions } from 'node:child_process'

export interface Command {
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
  readonly options?: SpawnOptions
}

export interface Ended {
  readonly name: string
  readonly status: number | null
  readonly signal: string | null
  readonly seconds: number
}

export function runBeside(
  commands: readonly Command[],
  options?: {
    readonly atOnce?: number
    readonly isFine?: (ended: Ended) => boolean
    readonly onEnd?: (ended: Ended) => void
  },
): Promise<Ended[]>
