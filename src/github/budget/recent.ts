// How much there was within a span of time up to now.

export class Recent {
  readonly #span: number
  readonly #most: number
  readonly #entries: { readonly at: number; readonly amount: number }[] = []
  #sum = 0

  /** At most so much within so many milliseconds. */
  constructor(most: number, span: number) {
    this.#most = most
    this.#span = span
  }

  add(amount: number, now: number): void {
    if (this.#most === Infinity) return
    this.#forget(now)
    this.#entries.push({ at: now, amount })
    this.#sum += amount
  }

  /** When so much more fits in, where `reserve` (a part of the whole) is left to others; at once where not later than `now`. */
  freeAt(amount: number, reserve: number, now: number): number {
    if (this.#most === Infinity) return now
    this.#forget(now)
    let over = this.#sum + amount - this.#most * (1 - reserve)
    if (over <= 0) return now
    for (const entry of this.#entries) {
      over -= entry.amount
      if (over <= 0) return entry.at + this.#span
    }
    // More than ever fits in goes when it is alone.
    return this.#entries.length === 0 ? now : (this.#entries.at(-1)?.at ?? now) + this.#span
  }

  #forget(now: number): void {
    while (this.#entries[0] !== undefined && this.#entries[0].at <= now - this.#span)
      this.#sum -= this.#entries.shift()?.amount ?? 0
  }
}
