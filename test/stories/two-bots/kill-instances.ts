// What happens to instances: killed at a random moment, alone, both, or a child process of theirs; stopped for longer than a
// lease and continued; replaced one after the other as a deployment does.
import { setTimeout as pause } from 'node:timers/promises'
import type { SeededRandom } from '../../../simulate/seeded-random.ts'
import { readProcessCommandLine, isProcessAlive, listProcessTree } from '../../processes.ts'
import type { BotInstance, TwoBotsEnvironment } from './two-bots.ts'

export type ProcessDisruptionKind =
  'kill' | 'kill both' | 'kill a child' | 'stop and continue' | 'rolling restart'

export interface ProcessDisruptionRecord {
  readonly death: ProcessDisruptionKind
  readonly description: string
  /** Processes that were signalled to end, and those that they had started. */
  readonly ended: readonly number[]
}

const disruptionKindWeights = [
  ['kill', 66],
  ['kill both', 10],
  ['kill a child', 14],
  ['stop and continue', 4],
  ['rolling restart', 6],
] as const

export interface ProcessDisruptionOptions {
  readonly dice: SeededRandom
  /** Seconds for which an instance stands still. */
  readonly stillSeconds: readonly [number, number]
  readonly only?: readonly ProcessDisruptionKind[]
}

/** One thing happens, and both instances run again when it is over. */
export async function causeProcessDisruption(
  bots: TwoBotsEnvironment,
  { dice, stillSeconds, only }: ProcessDisruptionOptions,
): Promise<ProcessDisruptionRecord> {
  const death = dice.pickWeighted(
    disruptionKindWeights.filter(([one]) => only === undefined || only.includes(one)),
  )
  const seat = dice.of(bots.instances)
  const restart = async (seats: readonly BotInstance[]) => {
    const ended: number[] = []
    for (const one of seats) ended.push(...(await bots.end(one, 'SIGKILL')))
    await pause(dice.between(0, 500))
    await Promise.all(seats.map((one) => bots.start(one)))
    return ended
  }
  switch (death) {
    case 'kill':
      return { death, description: `killed the ${seat.name}`, ended: await restart([seat]) }
    case 'kill both':
      return { death, description: 'killed both', ended: await restart(bots.instances) }
    case 'kill a child': {
      const id = seat.running?.process.pid
      const [, ...children] = id === undefined ? [] : listProcessTree(id)
      // Nothing was started yet: the parent goes instead.
      if (children.length === 0)
        return { death: 'kill', description: `killed the ${seat.name}`, ended: await restart([seat]) }
      const child = dice.of(children)
      const description = `killed ${formatProcessScriptName(child)} of the ${seat.name}`
      sendProcessSignal(child, 'SIGKILL')
      return { death, description, ended: [child] }
    }
    case 'stop and continue': {
      const id = seat.running?.process.pid
      const seconds = dice.between(...stillSeconds)
      if (id !== undefined) sendProcessSignal(id, 'SIGSTOP')
      await pause(seconds * 1000)
      if (id !== undefined) sendProcessSignal(id, 'SIGCONT')
      return { death, description: `the ${seat.name} stood still for ${seconds} s`, ended: [] }
    }
    case 'rolling restart': {
      const ended: number[] = []
      for (const one of bots.instances) {
        ended.push(...(await bots.end(one, 'SIGTERM')))
        await bots.start(one)
      }
      return { death, description: 'replaced one after the other', ended }
    }
  }
}

/** Of processes that ended, those below them that did not. */
export function findOrphanProcesses(deaths: readonly ProcessDisruptionRecord[]): readonly string[] {
  return deaths.flatMap(({ ended, description }) =>
    ended
      .filter(isProcessAlive)
      .map((id) => `${id} (${readProcessCommandLine(id).slice(0, 120)}) lives on after "${description}"`),
  )
}

function formatProcessScriptName(id: number): string {
  const script = readProcessCommandLine(id)
    .split(' ')
    .find((part) => /\.[cm]?[jt]s$/.test(part))
  return script?.split('/').at(-1) ?? readProcessCommandLine(id).split(' ')[0] ?? String(id)
}

function sendProcessSignal(id: number, signal: NodeJS.Signals): void {
  try {
    process.kill(id, signal)
  } catch {
    // It has just ended by itself.
  }
}
