// A map that forgets what was used longest ago once its values weigh too much together.

export class LruMap<Key, Value> {
  readonly #values = new Map<Key, Value>()
  readonly #capacity: number
  readonly #weigh: (value: Value) => number
  #weight = 0

  /** `capacity` and what `weigh` gives are in the same unit. A value heavier than the capacity is not kept. */
  constructor(capacity: number, weigh: (value: Value) => number) {
    this.#capacity = capacity
    this.#weigh = weigh
  }

  get(key: Key): Value | undefined {
    const value = this.#values.get(key)
    if (value === undefined) return undefined
    this.#values.delete(key)
    this.#values.set(key, value)
    return value
  }

  set(key: Key, value: Value): void {
    this.delete(key)
    const weight = this.#weigh(value)
    if (weight > this.#capacity) return
    this.#values.set(key, value)
    this.#weight += weight
    for (const oldest of this.#values.keys()) {
      if (this.#weight <= this.#capacity) break
      this.delete(oldest)
    }
  }

  delete(key: Key): void {
    const value = this.#values.get(key)
    if (value === undefined) return
    this.#values.delete(key)
    this.#weight -= this.#weigh(value)
  }

  get size(): number {
    return this.#values.size
  }
}
