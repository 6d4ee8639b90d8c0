// Answers a parsed query from plain objects: a field is a value, or a function of its arguments. Like GitHub, it
// answers 200 with partial data and a list of errors.
import { GitHubApiError } from '../http/route.ts'
import type { GraphqlQueryField } from './parse-query.ts'

/** The fields of a type: values, or functions of arguments. */
export type GraphqlFieldValues = Readonly<Record<string, unknown>>

interface GraphqlError {
  readonly type: string
  readonly path: readonly (string | number)[]
  readonly message: string
}

export interface GraphqlResult {
  readonly data: Readonly<Record<string, unknown>> | null
  readonly errors?: readonly GraphqlError[]
}

const graphqlErrorTypeByHttpStatus: Readonly<Record<number, string>> = {
  401: 'FORBIDDEN',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
}

export async function executeGraphqlQuery(
  root: GraphqlFieldValues,
  wanted: readonly GraphqlQueryField[],
): Promise<GraphqlResult> {
  const errors: GraphqlError[] = []
  const resolveValue = async (
    value: unknown,
    field: GraphqlQueryField,
    path: readonly (string | number)[],
  ): Promise<unknown> => {
    if (value === null || value === undefined) return null
    if (Array.isArray(value))
      return await Promise.all(value.map((it, index) => resolveValue(it, field, [...path, index])))
    if (field.fields === undefined || typeof value !== 'object') return value
    return await resolveSelection(value as GraphqlFieldValues, field.fields, path)
  }
  const resolveSelection = async (
    from: GraphqlFieldValues,
    fields: readonly GraphqlQueryField[],
    path: readonly (string | number)[],
  ): Promise<Record<string, unknown>> => {
    const shown: Record<string, unknown> = {}
    // In order, because mutations are sequential by definition.
    for (const field of fields) {
      const here = [...path, field.alias]
      try {
        if (!(field.name in from)) throw new GitHubApiError(422, `Field '${field.name}' doesn't exist`)
        const offered = from[field.name]
        const value: unknown =
          typeof offered === 'function'
            ? await (offered as (given: GraphqlFieldValues) => unknown)(field.arguments)
            : offered
        shown[field.alias] = await resolveValue(value, field, here)
      } catch (error) {
        if (!(error instanceof GitHubApiError)) throw error
        shown[field.alias] = null
        errors.push({
          type: graphqlErrorTypeByHttpStatus[error.status] ?? 'UNPROCESSABLE',
          path: here,
          message: error.message,
        })
      }
    }
    return shown
  }
  const data = await resolveSelection(root, wanted, [])
  return errors.length === 0 ? { data } : { data, errors }
}
