// Validates GraphQL traffic against an excerpt of GitHub's public schema, in both directions: the client's query and
// variables, and the response. A field missing from the excerpt is reported like one that GitHub does not have.
import { readFileSync } from 'node:fs'
import { buildSchema, executeSync, parse, validate, type GraphQLTypeResolver } from 'graphql'

const githubSchema = buildSchema(readFileSync(new URL('github-schema.graphql', import.meta.url), 'utf8'))

// The client sends few queries, many times.
const checkedQueries: Record<string, ReturnType<typeof checkQuery>> = {}
function checkQuery(query: string) {
  const document = parse(query)
  return { document, found: validate(githubSchema, document) }
}

interface GraphqlExchange {
  readonly requestBody: unknown
  readonly responseBody: unknown
}

/** Returns one line per problem. Skips exchanges with errors in the response: their requests are wrong on purpose. */
export function validateGraphqlExchange({ requestBody, responseBody }: GraphqlExchange): readonly string[] {
  const { data, errors } = (responseBody ?? {}) as { readonly data?: unknown; readonly errors?: unknown }
  if (errors !== undefined || data === null || data === undefined) return []
  const { query = '', variables = {} } = (requestBody ?? {}) as {
    readonly query?: string
    readonly variables?: Record<string, unknown>
  }
  const { document, found } = (checkedQueries[query] ??= checkQuery(query))
  if (found.length > 0) return found.map(({ message }) => `GraphQL request: ${message}`)
  // Executes the query with the response as the root value, so that a value the schema does not allow is an error.
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

/** Uses `__typename` if the query requests it, else the type of the first inline fragment, else any possible type. */
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
