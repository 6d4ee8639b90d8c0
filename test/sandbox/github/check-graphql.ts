// Holds what goes over GraphQL against an excerpt of GitHub's public schema, both directions: the client's query and its
// variables, and the answer. A field that is not in the excerpt is told like one that GitHub does not have.
import { readFileSync } from 'node:fs'
import { buildSchema, executeSync, parse, validate, type GraphQLTypeResolver } from 'graphql'

const githubSchema = buildSchema(readFileSync(new URL('github-schema.graphql', import.meta.url), 'utf8'))

interface GraphqlExchange {
  readonly requestBody: unknown
  readonly responseBody: unknown
}

/** What is wrong, a line each. What was answered with errors was wrong on purpose, or is judged by them. */
export function checkGraphql({ requestBody, responseBody }: GraphqlExchange): readonly string[] {
  const { data, errors } = (responseBody ?? {}) as { readonly data?: unknown; readonly errors?: unknown }
  if (errors !== undefined || data === null || data === undefined) return []
  const { query = '', variables = {} } = (requestBody ?? {}) as {
    readonly query?: string
    readonly variables?: Record<string, unknown>
  }
  const document = parse(query)
  const found = validate(githubSchema, document)
  if (found.length > 0) return found.map(({ message }) => `GraphQL request: ${message}`)
  // The answer takes the place of what is asked: whatever the schema does not allow there is an error.
  const held = executeSync({
    schema: githubSchema,
    document,
    rootValue: data,
    variableValues: variables,
    fieldResolver: (source: Record<string, unknown>, _arguments, _context, { path }) => source[path.key],
    typeResolver: resolveAbstractType,
  })
  return (held.errors ?? []).map(({ message, path }) => `GraphQL answer: ${path?.join('.') ?? ''} ${message}`)
}

/** By its name, where that was asked for; else by the one fragment of a type, or as any of those that it can be. */
const resolveAbstractType: GraphQLTypeResolver<unknown, unknown> = (
  value,
  _context,
  { fieldNodes },
  abstract,
) => {
  const { __typename: named } = value as { readonly __typename?: string }
  const fragments = fieldNodes.flatMap(({ selectionSet }) => selectionSet?.selections ?? [])
  const [condition] = fragments.flatMap((one) =>
    one.kind === 'InlineFragment' && one.typeCondition ? [one.typeCondition.name.value] : [],
  )
  return named ?? condition ?? githubSchema.getPossibleTypes(abstract)[0]?.name
}
