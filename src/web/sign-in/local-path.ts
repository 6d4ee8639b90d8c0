// The redirect target after signing in: always one of our pages, to prevent open redirects.
import { parsePageUrl } from '../../report/urls.ts'

export function toSafeSignInRedirectPath(wanted: string | null | undefined): string {
  if (typeof wanted !== 'string' || !/^\/[\w.~%/-]*$/.test(wanted)) return '/'
  const address = parsePageUrl(wanted)
  if (address === undefined) return '/'
  // Prevents redirect loops and an immediate sign-out.
  return ['sign-in', 'signed-in', 'sign-out', 'resume'].includes(address.pageRequest.page) ? '/' : wanted
}
