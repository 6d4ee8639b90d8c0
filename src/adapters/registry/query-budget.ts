// Limits how many registries and references one pull request can make us query.
import { parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import type { ImageRegistry } from '../../ports/registry.ts'

export interface RegistryQueryBudget {
  /** Distinct registries. Each may cost DNS, a handshake and a token service. */
  readonly hosts: number
  /** Distinct references. */
  readonly references: number
}

// The largest packages name about 30 registries' worth of images in a few thousand references.
const defaultRegistryQueryBudget: RegistryQueryBudget = { hosts: 50, references: 10_000 }

/** Returns `unknown` with a reason when the budget is exceeded. */
export function limitRegistryQueries(
  registry: ImageRegistry,
  budget: RegistryQueryBudget = defaultRegistryQueryBudget,
): ImageRegistry {
  const hosts = new Set<string>()
  const references = new Set<string>()
  const budgetExceeded = (limit: string) =>
    ({ kind: 'unknown', reason: `the change references more than ${limit}`, retryAfter: 3600 }) as const
  return {
    async resolve(text, signal) {
      const host = parseImageReference(text).reference?.host
      if (host !== undefined) {
        if (!references.has(text) && references.size >= budget.references)
          return budgetExceeded(`${budget.references} images`)
        if (!hosts.has(host) && hosts.size >= budget.hosts)
          return budgetExceeded(`${budget.hosts} registries`)
        references.add(text)
        hosts.add(host)
      }
      return registry.resolve(text, signal)
    },
    close: () => registry.close(),
  }
}
