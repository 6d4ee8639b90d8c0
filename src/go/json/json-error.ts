// Why a text is not JSON, in the words of Go's encoding/json.

/** Thrown inside the JSON reader only. */
export class JsonError extends Error {
  /** `end`: the text stopped inside a value. */
  readonly kind: 'syntax' | 'end'
  /** Index of the offending character in the text. */
  readonly at: number

  constructor(kind: 'syntax' | 'end', message: string, at: number) {
    super(message)
    this.name = 'JsonError'
    this.kind = kind
    this.at = at
  }
}
