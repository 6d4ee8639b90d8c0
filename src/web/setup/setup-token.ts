// The secret code of the setup page, which is random, shown only in the terminal, and compared in constant time.
import { randomBytes, timingSafeEqual } from 'node:crypto'

/** 144 random bits, safe in URLs. */
export const createSetupToken = (): string => randomBytes(18).toString('base64url')

export function isSetupToken(candidate: string | null, token: string): boolean {
  const [a, b] = [Buffer.from(candidate ?? ''), Buffer.from(token)]
  return a.length === b.length && timingSafeEqual(a, b)
}
