// Reproducible random numbers: each depends only on a seed and a position in the run. Removing an action therefore
// does not change the numbers at other positions, so a trace can be shrunk.

/** A number in [0, 1). */
export function computeSeededRandom(seed: number, ...position: readonly number[]): number {
  let state = (seed ^ 0x9e3779b9) >>> 0
  for (const part of position) state = mixBits((state + Math.imul(part + 1, 0x85ebca6b)) >>> 0)
  return mixBits(state) / 0x1_0000_0000
}

/** The Murmur finalizer: each input bit affects half of the output bits. */
function mixBits(value: number): number {
  let it = value
  it = Math.imul(it ^ (it >>> 16), 0x85ebca6b)
  it = Math.imul(it ^ (it >>> 13), 0xc2b2ae35)
  return (it ^ (it >>> 16)) >>> 0
}

/** A series of random numbers, for generating a run. */
export class SeededRandom {
  readonly #seed: number
  #thrown = 0

  constructor(seed: number) {
    this.#seed = seed
  }

  /** A number in [0, 1). */
  next(): number {
    return computeSeededRandom(this.#seed, (this.#thrown += 1))
  }
  /** An integer from `low` to `high`, inclusive. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }
  isTrue(probability: number): boolean {
    return this.next() < probability
  }
  /** One of several items. None of them is undefined. */
  of<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)]
    if (item === undefined) throw new RangeError('there is nothing to choose from')
    return item
  }
  /** One of several items, chosen by weight. */
  pickWeighted<T>(items: readonly (readonly [item: T, weight: number])[]): T {
    let remaining = this.next() * items.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [item, weight] of items) {
      remaining -= weight
      if (remaining < 0) return item
    }
    return this.of(items)[0]
  }
}
