// The amount used within the last span of time.

export class SlidingWindowUsage {
  readonly #span: number
  readonly #most: number
  readonly #entries: { readonly at: number; readonly amount: number }[] = []
  #sum = 0

  /** At most `most` within `span` milliseconds. */
  constructor(limit: number, span: number) {
    this.#most = limit
    this.#span = span
  }

  add(amount: number, now: number): void {
    if (this.#most === Infinity) return
    this.#forget(now)
    this.#entries.push({ at: now, amount })
    this.#sum += amount
  }

  /** When `amount` more fits, leaving `reserve` (a fraction) to others; at once if not later than `now`. */
  freeAt(amount: number, reserve: number, now: number): number {
    if (this.#most === Infinity) return now
    this.#forget(now)
    let over = this.#sum + amount - this.#most * (1 - reserve)
    if (over <= 0) return now
    for (const entry of this.#entries) {
      over -= entry.amount
      if (over <= 0) return entry.at + this.#span
    }
    // An amount above the limit goes alone.
    return this.#entries.length === 0 ? now : (this.#entries.at(-1)?.at ?? now) + this.#span
  }

  #forget(now: number): void {
    while (this.#entries[0] !== undefined && this.#entries[0].at <= now - this.#span)
      this.#sum -= this.#entries.shift()?.amount ?? 0
  }
}
