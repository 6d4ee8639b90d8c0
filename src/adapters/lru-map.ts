// A map that drops expired entries, and the least recently used ones above a total weight.

export class LruMap<Key, Value> {
  readonly #values = new Map<Key, Value>()
  readonly #capacity: number
  readonly #measureSize: (value: Value, key: Key) => number
  readonly #isOld: (value: Value) => boolean
  #weight = 0

  /** `capacity` and what `weigh` gives are in the same unit. A value heavier than the capacity is not kept. */
  constructor(
    capacity: number,
    measureSize: (value: Value, key: Key) => number,
    isOld: (value: Value) => boolean = () => false,
  ) {
    this.#capacity = capacity
    this.#measureSize = measureSize
    this.#isOld = isOld
  }

  get(key: Key): Value | undefined {
    const value = this.#values.get(key)
    if (value === undefined || this.#isOld(value)) return undefined
    this.#values.delete(key)
    this.#values.set(key, value)
    return value
  }

  set(key: Key, value: Value): void {
    this.delete(key)
    const weight = this.#measureSize(value, key)
    if (weight > this.#capacity) return
    this.#values.set(key, value)
    this.#weight += weight
    for (const [oldest, its] of this.#values) {
      if (this.#weight <= this.#capacity && !this.#isOld(its)) break
      this.delete(oldest)
    }
  }

  delete(key: Key): void {
    const value = this.#values.get(key)
    if (value === undefined) return
    this.#values.delete(key)
    this.#weight -= this.#measureSize(value, key)
  }

  /** The sum of the weights of its values. */
  get weight(): number {
    return this.#weight
  }

  get size(): number {
    return this.#values.size
  }
}
