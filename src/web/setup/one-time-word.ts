// The setup password: random, shown only in the terminal, compared in constant time.
import { randomBytes, timingSafeEqual } from 'node:crypto'

/** 144 random bits, safe in URLs. */
export const makeWord = (): string => randomBytes(18).toString('base64url')

export function isWord(given: string | null, word: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(word)]
  return a.length === b.length && timingSafeEqual(a, b)
}
