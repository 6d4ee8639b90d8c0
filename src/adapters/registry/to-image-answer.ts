// Maps a registry failure to an answer. The answer is definite only if the registry's reply was definite.
import type { ImageLookupAnswer } from '../../checks/questions.ts'
import { RegistryError } from './registry-error.ts'

// Seconds until a retry makes sense if the registry sends no `Retry-After`. Outages pass in minutes. Certificates and
// credentials take longer to fix.
const outageRetrySeconds = 60
const rateLimitRetrySeconds = 300
const configErrorRetrySeconds = 600
// Bounds for `Retry-After`: 0 would cause a tight retry loop, and some registries send years.
const [shortestWait, maxRetrySeconds] = [5, 6 * 3600]

export function toImageAnswer(error: unknown): ImageLookupAnswer {
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
      return { kind: 'unknown', reason, retryAfter: clampRetryAfter(error, rateLimitRetrySeconds) }
    case 'tls':
    case 'credentials':
    case 'too-large':
      return { kind: 'unknown', reason, retryAfter: configErrorRetrySeconds }
    case 'dns':
    case 'timeout':
    case 'network':
    case 'server':
    case 'bad-reply':
    case 'aborted':
      return { kind: 'unknown', reason, retryAfter: clampRetryAfter(error, outageRetrySeconds) }
  }
}

function clampRetryAfter({ retryAfter }: RegistryError, usual: number): number {
  return retryAfter === undefined ? usual : Math.min(Math.max(retryAfter, shortestWait), maxRetrySeconds)
}
