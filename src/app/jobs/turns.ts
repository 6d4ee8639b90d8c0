// Orders jobs of pull requests. Large ones (by GitHub's numbers) pause at some points until no small or unknown one is
// running, so that expensive pull requests do not slow down small ones. Decides nothing but the order.
import type { Clock } from '../../ports/clock.ts'

export type Weight = 'light' | 'heavy'

/** A job counts as light until its weight is known, which takes one request. */
export interface Turn {
  /** Accounts with many running jobs (`whose`) wait behind those with few. */
  weigh(weight: Weight, whose: string): void
  /** Resolves at once for a light job, and for a heavy one when it may continue. */
  giveWay(): Promise<void>
  end(): void
}

export interface Turns {
  begin(): Turn
  readonly waiting: number
  /** Releases all waiting jobs. */
  close(): void
}

export interface TurnLimits {
  /** Heavy jobs at once: one for each process. */
  readonly heavyAtOnce: number
  /** Maximum milliseconds that a heavy job waits in total, so that endless light ones cannot block it. */
  readonly longest: number
  /** Light jobs at once for one account. More of them wait like heavy ones, because a small diff can be expensive. */
  readonly lightOfOne: number
}

/** Enough time to evaluate and merge ten small pull requests. */
const usualLimits: TurnLimits = { heavyAtOnce: 4, longest: 10_000, lightOfOne: 2 }

interface Running {
  whose: string
  isIn: boolean
  /** Remaining milliseconds to wait for light jobs. */
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

  /** Orders by: already admitted, fewest jobs of the account, arrival. */
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
