// Where somebody goes after signing in: a page of ours, whatever the address asked for.
import { readAddress } from '../pages/addresses.ts'

/** The path where it is one of our pages, `/` where it is anything else. */
export function localPath(wanted: string | null | undefined): string {
  if (typeof wanted !== 'string' || !/^\/[\w.~%/-]*$/.test(wanted)) return '/'
  const address = readAddress(wanted)
  if (address === undefined) return '/'
  // Neither round in a circle nor out again.
  return ['sign-in', 'signed-in', 'sign-out', 'resume'].includes(address.asked.page) ? '/' : wanted
}
