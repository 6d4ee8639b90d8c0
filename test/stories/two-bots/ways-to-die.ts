// What happens to instances: killed at a random moment, alone, both, or a child process of theirs; stopped for longer than a
// lease and continued; replaced one after the other as a deployment does.
import { setTimeout as pause } from 'node:timers/promises'
import type { Dice } from '../../../simulate/chance.ts'
import { commandOf, isLiving, withDescendants } from './processes.ts'
import type { Seat, TwoBots } from './two-bots.ts'

export type Death = 'kill' | 'kill both' | 'kill a child' | 'stop and continue' | 'rolling restart'

export interface Died {
  readonly death: Death
  readonly tells: string
  /** Processes that were signalled to end, and those that they had started. */
  readonly ended: readonly number[]
}

const weights = [
  ['kill', 66],
  ['kill both', 10],
  ['kill a child', 14],
  ['stop and continue', 4],
  ['rolling restart', 6],
] as const

export interface Dying {
  readonly dice: Dice
  /** Seconds for which an instance stands still. */
  readonly stillSeconds: readonly [number, number]
  readonly only?: readonly Death[]
}

/** One thing happens, and both instances run again when it is over. */
export async function letDie(bots: TwoBots, { dice, stillSeconds, only }: Dying): Promise<Died> {
  const death = dice.weighed(weights.filter(([one]) => only === undefined || only.includes(one)))
  const seat = dice.of(bots.seats)
  const restart = async (seats: readonly Seat[]) => {
    const ended: number[] = []
    for (const one of seats) ended.push(...(await bots.end(one, 'SIGKILL')))
    await pause(dice.between(0, 500))
    await Promise.all(seats.map((one) => bots.start(one)))
    return ended
  }
  switch (death) {
    case 'kill':
      return { death, tells: `killed the ${seat.name}`, ended: await restart([seat]) }
    case 'kill both':
      return { death, tells: 'killed both', ended: await restart(bots.seats) }
    case 'kill a child': {
      const id = seat.running?.process.pid
      const [, ...children] = id === undefined ? [] : withDescendants(id)
      // Nothing was started yet: the parent goes instead.
      if (children.length === 0)
        return { death: 'kill', tells: `killed the ${seat.name}`, ended: await restart([seat]) }
      const child = dice.of(children)
      const tells = `killed ${nameOf(child)} of the ${seat.name}`
      kill(child, 'SIGKILL')
      return { death, tells, ended: [child] }
    }
    case 'stop and continue': {
      const id = seat.running?.process.pid
      const seconds = dice.between(...stillSeconds)
      if (id !== undefined) kill(id, 'SIGSTOP')
      await pause(seconds * 1000)
      if (id !== undefined) kill(id, 'SIGCONT')
      return { death, tells: `the ${seat.name} stood still for ${seconds} s`, ended: [] }
    }
    case 'rolling restart': {
      const ended: number[] = []
      for (const one of bots.seats) {
        ended.push(...(await bots.end(one, 'SIGTERM')))
        await bots.start(one)
      }
      return { death, tells: 'replaced one after the other', ended }
    }
  }
}

/** Of processes that ended, those below them that did not. */
export function orphansOf(deaths: readonly Died[]): readonly string[] {
  return deaths.flatMap(({ ended, tells }) =>
    ended.filter(isLiving).map((id) => `${id} (${commandOf(id).slice(0, 120)}) lives on after "${tells}"`),
  )
}

function nameOf(id: number): string {
  const script = commandOf(id)
    .split(' ')
    .find((part) => /\.[cm]?[jt]s$/.test(part))
  return script?.split('/').at(-1) ?? commandOf(id).split(' ')[0] ?? String(id)
}

function kill(id: number, signal: NodeJS.Signals): void {
  try {
    process.kill(id, signal)
  } catch {
    // It has just ended by itself.
  }
}
