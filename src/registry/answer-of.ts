// Maps a registry's failure to an answer: definite only if the registry was definite.
import type { ImageAnswer } from '../checks/questions.ts'
import { RegistryError } from './registry-error.ts'

// Seconds until a retry makes sense if the registry gives no `Retry-After`. Outages pass in minutes; certificates and
// credentials take people longer to fix.
const shortWait = 60
const limitWait = 300
const longWait = 600
// Bounds for what registries say: 0 would retry in a tight loop, and some registries say years.
const [shortestWait, longestWait] = [5, 6 * 3600]

export function answerOf(error: unknown): ImageAnswer {
  if (!(error instanceof RegistryError)) throw error
  const reason = error.message
  switch (error.code) {
    case 'missing':
    case 'malformed':
    case 'unsupported':
    case 'digest-mismatch':
    case 'blocked':
      return { kind: error.code, reason }
    case 'private':
      return { kind: 'missing-or-private', reason }
    case 'rate-limited':
      return { kind: 'unknown', reason, retryAfter: waitOf(error, limitWait) }
    case 'tls':
    case 'credentials':
    case 'too-large':
      return { kind: 'unknown', reason, retryAfter: longWait }
    case 'dns':
    case 'timeout':
    case 'network':
    case 'server':
    case 'bad-reply':
    case 'aborted':
      return { kind: 'unknown', reason, retryAfter: waitOf(error, shortWait) }
  }
}

function waitOf({ retryAfter }: RegistryError, usual: number): number {
  return retryAfter === undefined ? usual : Math.min(Math.max(retryAfter, shortestWait), longestWait)
}
