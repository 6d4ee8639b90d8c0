// A registry's failure as the answer that checks judge: definite only where the registry itself was definite.
import type { ImageAnswer } from '../checks/questions.ts'
import { RegistryError } from './registry-error.ts'

// Seconds after which asking again makes sense, where the registry does not say: outages pass in minutes,
// what people must mend (certificates, our credentials) takes longer.
const shortWait = 60
const limitWait = 300
const longWait = 600
// What registries say is believed within bounds: 0 would be asked for ever, and some say years.
const [shortestWait, longestWait] = [5, 6 * 3600]

/** Throws again what is not a RegistryError: that is our own fault. */
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
