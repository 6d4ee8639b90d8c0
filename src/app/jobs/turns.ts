// Who goes first among jobs at pull requests. What GitHub says is large gives way, at a few points of its job, to what is
// small or not known yet, and goes on when none of that is under way. So what a small one needs of GitHub, of git and of
// the processor is not shared with pull requests that were made to be expensive. Decides on order and on nothing else.
import type { Clock } from '../../ports/clock.ts'

export type Weight = 'light' | 'heavy'

/** One job's place in that order. It counts as light until something else is known: that takes one request. */
export interface Turn {
  /** `whose`: those who have many under way wait behind those who have few. */
  weigh(weight: Weight, whose: string): void
  /** Resolves at once for a light one; for a heavy one when it may go on. */
  giveWay(): Promise<void>
  end(): void
}

export interface Turns {
  begin(): Turn
  /** How many wait for others now: they have begun, and take nothing but a little memory. */
  readonly waiting: number
  /** Nobody waits any more. */
  close(): void
}

export interface TurnLimits {
  /** Heavy ones that have been let in, at once: as many as there are processes for them. */
  readonly heavyAtOnce: number
  /** Milliseconds that a heavy one waits for light ones, all its pauses together: whoever sends those without end delays it by no more. */
  readonly longest: number
  /** One account's light ones at once. The next ones wait as heavy ones do: small by GitHub's numbers is not always small. */
  readonly lightOfOne: number
}

/** Ten small ones are looked at and merged in that time. */
const usualLimits: TurnLimits = { heavyAtOnce: 4, longest: 10_000, lightOfOne: 2 }

interface Running {
  whose: string
  isIn: boolean
  /** Milliseconds that it has left to wait for light ones. */
  left: number
}

interface Waiting {
  readonly heavy: Running
  isPatient: boolean
  readonly go: () => void
}

export function openTurns(clock: Clock, limits: TurnLimits = usualLimits): Turns {
  const { heavyAtOnce, longest, lightOfOne } = limits
  const light = new Set<Running>()
  const heavyOnes = new Set<Running>()
  const queue = new Set<Waiting>()
  let closed = false

  const areIn = (whose?: string): number =>
    [...heavyOnes].filter((one) => one.isIn && (whose === undefined || one.whose === whose)).length

  /** Of those that may go on: who has come in already, then whose others are fewest, then who came first. */
  function first(): Waiting | undefined {
    const hasRoom = areIn() < heavyAtOnce
    const ready = [...queue].filter(
      ({ heavy, isPatient }) => (light.size === 0 || !isPatient) && (heavy.isIn || hasRoom),
    )
    const rank = ({ heavy }: Waiting) => (heavy.isIn ? -1 : areIn(heavy.whose))
    return ready.toSorted((a, b) => rank(a) - rank(b))[0]
  }

  function next(): void {
    for (let one = closed ? [...queue][0] : first(); one; one = closed ? [...queue][0] : first()) {
      queue.delete(one)
      one.heavy.isIn = true
      one.go()
    }
  }

  async function wait(heavy: Running): Promise<void> {
    const turn = Promise.withResolvers<void>()
    const waiting: Waiting = { heavy, isPatient: heavy.left > 0, go: turn.resolve }
    queue.add(waiting)
    next()
    if (!queue.has(waiting)) return
    const began = clock.now()
    const stopping = new AbortController()
    const patience = clock.sleep(heavy.left, stopping.signal).then(() => {
      waiting.isPatient = false
      if (!stopping.signal.aborted) next()
    })
    await turn.promise
    stopping.abort()
    await patience
    heavy.left = Math.max(0, heavy.left - (clock.now() - began))
  }

  return {
    begin() {
      const self: Running = { whose: '', isIn: false, left: longest }
      light.add(self)
      return {
        weigh(weight, whose) {
          self.whose = whose
          light.delete(self)
          const others = [...light].filter((one) => one.whose === whose).length
          const isLight = weight === 'light' && others < lightOfOne
          if (isLight) {
            heavyOnes.delete(self)
            self.isIn = false
          }
          const into = isLight ? light : heavyOnes
          into.add(self)
          next()
        },
        giveWay: () => (heavyOnes.has(self) && !closed ? wait(self) : Promise.resolve()),
        end() {
          light.delete(self)
          heavyOnes.delete(self)
          next()
        },
      }
    },
    get waiting() {
      return queue.size
    },
    close() {
      closed = true
      next()
    },
  }
}
