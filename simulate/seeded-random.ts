// Chance that is the same each time: a number for a seed and a place in the run. Because each place has its own number, taking
// an action out of a run does not change what chance says at the other places, which is what lets a trace be shrunk.

/** A number from 0 up to, and without, 1. */
export function computeSeededRandom(seed: number, ...position: readonly number[]): number {
  let state = (seed ^ 0x9e3779b9) >>> 0
  for (const part of position) state = mixBits((state + Math.imul(part + 1, 0x85ebca6b)) >>> 0)
  return mixBits(state) / 0x1_0000_0000
}

/** Murmur's finaliser: each bit of the input changes half of those of the output. */
function mixBits(value: number): number {
  let it = value
  it = Math.imul(it ^ (it >>> 16), 0x85ebca6b)
  it = Math.imul(it ^ (it >>> 13), 0xc2b2ae35)
  return (it ^ (it >>> 16)) >>> 0
}

/** A series of chances, for making up what happens in a run. */
export class SeededRandom {
  readonly #seed: number
  #thrown = 0

  constructor(seed: number) {
    this.#seed = seed
  }

  /** From 0 up to, and without, 1. */
  next(): number {
    return computeSeededRandom(this.#seed, (this.#thrown += 1))
  }
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }
  isTrue(probability: number): boolean {
    return this.next() < probability
  }
  /** One of several, none of which is missing. */
  of<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)]
    if (item === undefined) throw new RangeError('there is nothing to choose from')
    return item
  }
  /** One of several, each as likely as its weight says. */
  pickWeighted<T>(items: readonly (readonly [item: T, weight: number])[]): T {
    let remaining = this.next() * items.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [item, weight] of items) {
      remaining -= weight
      if (remaining < 0) return item
    }
    return this.of(items)[0]
  }
}
