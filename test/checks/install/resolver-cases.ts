import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

export interface ResolverCase {
  readonly claim: string
  readonly catalog: readonly string[]
  readonly subscriptions: readonly string[]
  /** Names in Go's order; or a part of OLM's message. */
  readonly gives: readonly string[] | string
}

const { cases } = parse(readFileSync(new URL('resolver-cases.yaml', import.meta.url), 'utf8')) as {
  readonly cases: readonly (Omit<ResolverCase, 'subscriptions'> & Partial<ResolverCase>)[]
}

/** A catalog can repeat lines that other cases share. */
export const resolverCases: readonly ResolverCase[] = cases.map(({ catalog, ...others }) => ({
  subscriptions: ['foo/stable'],
  catalog: catalog.flat(2),
  ...others,
}))
