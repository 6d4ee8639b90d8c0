// Answers a parsed query from plain objects: a field is a value, or a function of its arguments. As GitHub does, it
// answers 200 with what it has, and a list of errors beside it.
import { Refusal } from '../http/route.ts'
import type { Field } from './parse-query.ts'

/** What a type offers: values, or functions from arguments. */
export type Fields = Readonly<Record<string, unknown>>

interface QueryError {
  readonly type: string
  readonly path: readonly (string | number)[]
  readonly message: string
}

export interface QueryAnswer {
  readonly data: Readonly<Record<string, unknown>> | null
  readonly errors?: readonly QueryError[]
}

const types: Readonly<Record<number, string>> = { 401: 'FORBIDDEN', 403: 'FORBIDDEN', 404: 'NOT_FOUND' }

export async function answerQuery(root: Fields, wanted: readonly Field[]): Promise<QueryAnswer> {
  const errors: QueryError[] = []
  const show = async (value: unknown, field: Field, path: readonly (string | number)[]): Promise<unknown> => {
    if (value === null || value === undefined) return null
    if (Array.isArray(value))
      return await Promise.all(value.map((it, index) => show(it, field, [...path, index])))
    if (field.fields === undefined || typeof value !== 'object') return value
    return await select(value as Fields, field.fields, path)
  }
  const select = async (
    from: Fields,
    fields: readonly Field[],
    path: readonly (string | number)[],
  ): Promise<Record<string, unknown>> => {
    const shown: Record<string, unknown> = {}
    // One after the other: mutations are so by definition.
    for (const field of fields) {
      const here = [...path, field.alias]
      try {
        if (!(field.name in from)) throw new Refusal(422, `Field '${field.name}' doesn't exist`)
        const offered = from[field.name]
        const value: unknown =
          typeof offered === 'function'
            ? await (offered as (given: Fields) => unknown)(field.arguments)
            : offered
        shown[field.alias] = await show(value, field, here)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        shown[field.alias] = null
        errors.push({ type: types[error.status] ?? 'UNPROCESSABLE', path: here, message: error.message })
      }
    }
    return shown
  }
  const data = await select(root, wanted, [])
  return errors.length === 0 ? { data } : { data, errors }
}
