// The word that lets one person in: random, in the terminal only, compared in constant time.
import { randomBytes, timingSafeEqual } from 'node:crypto'

/** 144 random bits, fit for an address. */
export const makeWord = (): string => randomBytes(18).toString('base64url')

export function isWord(given: string | null, word: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(word)]
  return a.length === b.length && timingSafeEqual(a, b)
}
