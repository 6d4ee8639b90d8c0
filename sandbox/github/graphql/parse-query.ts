// The part of GraphQL that GitHub clients use: one operation, with variables, aliases, arguments, and fragments.
import { Kind, parse, valueFromASTUntyped, type SelectionSetNode } from 'graphql'

export interface GraphqlQueryField {
  readonly name: string
  readonly alias: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly fields: readonly GraphqlQueryField[] | undefined
}

export interface GraphqlOperation {
  readonly kind: 'query' | 'mutation'
  readonly fields: readonly GraphqlQueryField[]
}

/** Parses a request's operation and substitutes its variables. Throws on a syntax error. */
export function parseQuery(
  text: string,
  variables: Readonly<Record<string, unknown>> = {},
): GraphqlOperation {
  if (text === '') throw new Error('A query attribute must be specified and must be a string.')
  const { definitions } = parse(text, { noLocation: true })
  const operation = definitions.find((one) => one.kind === Kind.OPERATION_DEFINITION)
  if (operation === undefined || operation.operation === 'subscription')
    throw new Error('Parse error: the request has no query and no mutation')
  const fragments = new Map(
    definitions.flatMap((one) =>
      one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one.selectionSet]] : [],
    ),
  )
  const listFields = (set: SelectionSetNode | undefined): GraphqlQueryField[] =>
    (set?.selections ?? []).flatMap((one) => {
      if (one.kind === Kind.INLINE_FRAGMENT) return listFields(one.selectionSet)
      if (one.kind === Kind.FRAGMENT_SPREAD) return listFields(fragments.get(one.name.value))
      const given = (one.arguments ?? []).map(({ name, value }) => [
        name.value,
        valueFromASTUntyped(value, variables),
      ])
      return {
        name: one.name.value,
        alias: (one.alias ?? one.name).value,
        arguments: Object.fromEntries(given) as Record<string, unknown>,
        fields: one.selectionSet && listFields(one.selectionSet),
      }
    })
  return { kind: operation.operation, fields: listFields(operation.selectionSet) }
}
