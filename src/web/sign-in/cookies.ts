// Cookies of the pages: for this host alone, never for scripts, never sent along by another site's forms.
import type { IncomingHttpHeaders } from 'node:http'

export interface Cookie {
  readonly name: string
  readonly value: string
  /** 0: it goes. */
  readonly seconds: number
  /** Sent by https alone. */
  readonly isSecure: boolean
}

/** Browsers take a name with this prefix only with Secure, Path=/ and no Domain: no other host can plant one. */
const cookieName = (name: string, isSecure: boolean): string => (isSecure ? `__Host-${name}` : name)

export function cookieHeader({ name, value, seconds, isSecure }: Cookie): string {
  return `${cookieName(name, isSecure)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
}

export function readCookie(
  { cookie = '' }: IncomingHttpHeaders,
  name: string,
  isSecure: boolean,
): string | undefined {
  const wanted = `${cookieName(name, isSecure)}=`
  for (const part of cookie.split(';')) {
    const pair = part.trim()
    if (pair.startsWith(wanted)) return pair.slice(wanted.length)
  }
  return undefined
}
