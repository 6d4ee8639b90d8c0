// Disrupts instances: kills one, both, or a child process at a random moment; stops one for longer than a lease and continues
// it; or replaces them one after the other, like a deployment.
import { setTimeout as pause } from 'node:timers/promises'
import type { SeededRandom } from '../../../simulate/seeded-random.ts'
import { readProcessCommandLine, isProcessAlive, listProcessTree } from '../../processes.ts'
import type { BotInstance, TwoBotsEnvironment } from './two-bots.ts'

export type ProcessDisruptionKind =
  'kill' | 'kill both' | 'kill a child' | 'stop and continue' | 'rolling restart'

export interface ProcessDisruptionRecord {
  readonly death: ProcessDisruptionKind
  readonly description: string
  /** Processes that were killed or stopped, and their descendants. */
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
  /** Seconds for which an instance is stopped. */
  readonly stillSeconds: readonly [number, number]
  readonly only?: readonly ProcessDisruptionKind[]
}

/** Causes one disruption, and resolves when both instances run again. */
export async function causeProcessDisruption(
  bots: TwoBotsEnvironment,
  { dice, stillSeconds, only }: ProcessDisruptionOptions,
): Promise<ProcessDisruptionRecord> {
  const death = dice.pickWeighted(
    disruptionKindWeights.filter(([one]) => only === undefined || only.includes(one)),
  )
  const instance = dice.of(bots.instances)
  const restart = async (instances: readonly BotInstance[]) => {
    const ended: number[] = []
    for (const one of instances) ended.push(...(await bots.end(one, 'SIGKILL')))
    await pause(dice.between(0, 500))
    await Promise.all(instances.map((one) => bots.start(one)))
    return ended
  }
  switch (death) {
    case 'kill':
      return { death, description: `killed the ${instance.name}`, ended: await restart([instance]) }
    case 'kill both':
      return { death, description: 'killed both', ended: await restart(bots.instances) }
    case 'kill a child': {
      const id = instance.running?.process.pid
      const [, ...children] = id === undefined ? [] : listProcessTree(id)
      // It has no child process yet, so the parent is killed instead.
      if (children.length === 0)
        return { death: 'kill', description: `killed the ${instance.name}`, ended: await restart([instance]) }
      const child = dice.of(children)
      const description = `killed ${formatProcessScriptName(child)} of the ${instance.name}`
      sendProcessSignal(child, 'SIGKILL')
      return { death, description, ended: [child] }
    }
    case 'stop and continue': {
      const id = instance.running?.process.pid
      const seconds = dice.between(...stillSeconds)
      if (id !== undefined) sendProcessSignal(id, 'SIGSTOP')
      await pause(seconds * 1000)
      if (id !== undefined) sendProcessSignal(id, 'SIGCONT')
      return { death, description: `the ${instance.name} was stopped for ${seconds} s`, ended: [] }
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

/** Descendants of ended processes that are still running. */
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
    // It has just ended.
  }
}
