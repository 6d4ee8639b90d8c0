// Values that browsers store but cannot read or change: AES-256-GCM with a key from the App's client secret, so all
// instances share it. Each value is valid for one purpose only.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export interface CookieSealer {
  seal(value: unknown): string
  /** Returns undefined unless the value was sealed for this purpose with this secret. */
  open(sealed: string): unknown
}

const cipherAlgorithm = 'aes-256-gcm'
const [nonceLength, tagLength] = [12, 16]
/** Browsers limit cookies to 4096 characters. */
const maxSealedCookieLength = 4096

export function createCookieSealer(secret: string, purpose: string): CookieSealer {
  const key = Buffer.from(hkdfSync('sha256', secret, 'catalog-bot', purpose, 32))
  return {
    seal(value) {
      const nonce = randomBytes(nonceLength)
      const cipher = createCipheriv(cipherAlgorithm, key, nonce)
      const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')
    },
    open(sealed) {
      if (sealed.length > maxSealedCookieLength || !/^[\w-]+$/.test(sealed)) return undefined
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length <= nonceLength + tagLength) return undefined
      // The last character may have unused bits; accept only the canonical text.
      if (bytes.toString('base64url') !== sealed) return undefined
      try {
        const decipher = createDecipheriv(cipherAlgorithm, key, bytes.subarray(0, nonceLength), {
          authTagLength: tagLength,
        })
        decipher.setAuthTag(bytes.subarray(nonceLength, nonceLength + tagLength))
        const text = Buffer.concat([
          decipher.update(bytes.subarray(nonceLength + tagLength)),
          decipher.final(),
        ])
        return JSON.parse(text.toString('utf8')) as unknown
      } catch {
        return undefined
      }
    },
  }
}
