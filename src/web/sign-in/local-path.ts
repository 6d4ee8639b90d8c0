// The redirect target after signing in: always one of our pages, to prevent open redirects.
import { readAddress } from '../pages/addresses.ts'

export function localPath(wanted: string | null | undefined): string {
  if (typeof wanted !== 'string' || !/^\/[\w.~%/-]*$/.test(wanted)) return '/'
  const address = readAddress(wanted)
  if (address === undefined) return '/'
  // Prevents redirect loops and an immediate sign-out.
  return ['sign-in', 'signed-in', 'sign-out', 'resume'].includes(address.asked.page) ? '/' : wanted
}
