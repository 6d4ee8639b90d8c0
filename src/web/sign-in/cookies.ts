// Cookies for this host only, hidden from scripts and from cross-site forms.
import type { IncomingHttpHeaders } from 'node:http'

export interface Cookie {
  readonly name: string
  readonly value: string
  /** 0 deletes the cookie. */
  readonly seconds: number
  /** Sent only over HTTPS. */
  readonly isSecure: boolean
}

/** Browsers accept a `__Host-` name only with Secure, Path=/ and no Domain, so no other host can set one. */
const getCookieName = (name: string, isSecure: boolean): string => (isSecure ? `__Host-${name}` : name)

export function formatCookieHeader({ name, value, seconds, isSecure }: Cookie): string {
  return `${getCookieName(name, isSecure)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
}

export function findCookie(
  { cookie = '' }: IncomingHttpHeaders,
  name: string,
  isSecure: boolean,
): string | undefined {
  const wanted = `${getCookieName(name, isSecure)}=`
  for (const part of cookie.split(';')) {
    const pair = part.trim()
    if (pair.startsWith(wanted)) return pair.slice(wanted.length)
  }
  return undefined
}
