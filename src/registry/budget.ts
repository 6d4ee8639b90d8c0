// How much of the world one pull request may make us ask: a registry that refuses after so many references and
// hosts. Counts; what it lets through is asked by the registry behind it.
import { parseImageReference } from '../go/reference/image-reference.ts'
import type { Registry } from '../ports/registry.ts'

export interface Budget {
  /** Distinct registries. Each may cost DNS, a handshake and a token service of its choice. */
  readonly hosts: number
  /** Distinct references. */
  readonly references: number
}

// The largest packages name about 30 registries' worth of images in a few thousand references.
const defaultBudget: Budget = { hosts: 50, references: 10_000 }

/** The same registry for one pull request: what goes beyond the budget is unknown, and says why. */
export function withBudget(registry: Registry, budget: Budget = defaultBudget): Registry {
  const hosts = new Set<string>()
  const references = new Set<string>()
  const refuse = (what: string) =>
    ({ kind: 'unknown', reason: `the change names more than ${what}`, retryAfter: 3600 }) as const
  return {
    async resolve(text, signal) {
      const host = parseImageReference(text).reference?.host
      if (host !== undefined) {
        if (!references.has(text) && references.size >= budget.references)
          return refuse(`${budget.references} images`)
        if (!hosts.has(host) && hosts.size >= budget.hosts) return refuse(`${budget.hosts} registries`)
        references.add(text)
        hosts.add(host)
      }
      return registry.resolve(text, signal)
    },
    close: () => registry.close(),
  }
}
