// As much of GitHub's GraphQL as the App asks: one object by its id, and of a comment who edited it and when. The fields
// and their types are those of GitHub's public schema (https://docs.github.com/en/graphql/reference/objects#issuecomment);
// whatever else is asked is refused with GitHub's own words, never ignored.
import { maySee } from './auth.ts'
import { ok, route } from './route.ts'
import type { Call, Reply, Route } from './route.ts'
import { nodeId } from './views/account-view.ts'
import type { Account, IssueComment, Payload, World } from './world.ts'

/** A field with what is selected of it; `on` for a fragment's type. */
interface Selection {
  readonly name: string
  readonly on?: boolean
  readonly argument?: string
  readonly fields: readonly Selection[]
}

type Resolve = (fields: readonly Selection[]) => unknown
type Type = Readonly<Record<string, Resolve>>

class QueryError extends Error {}

export function graphqlRoutes(world: World): Route[] {
  return [
    route('POST /graphql', 'anyone', (call): Reply => {
      const { query, variables = {} } = call.body as { query?: unknown; variables?: Payload }
      try {
        const fields = parseQuery(typeof query === 'string' ? query : '')
        const errors: Payload[] = []
        const data = select('Query', queryType(world, call, fields, variables, errors), fields)
        return ok(errors.length > 0 ? { data, errors } : { data })
      } catch (error) {
        if (!(error instanceof QueryError)) throw error
        return ok({ errors: [{ message: error.message }] })
      }
    }),
  ]
}

function queryType(
  world: World,
  call: Call,
  fields: readonly Selection[],
  variables: Payload,
  errors: Payload[],
): Type {
  const id = variables[fields.find(({ name }) => name === 'node')?.argument ?? '']
  return {
    node: (wanted) => {
      const comment = commentByNode(world, call, id)
      if (comment === undefined) {
        const message = `Could not resolve to a node with the global id of '${String(id)}'`
        errors.push({ type: 'NOT_FOUND', path: ['node'], message })
        return null
      }
      return select('IssueComment', commentType(comment), wanted)
    },
  }
}

function commentByNode(world: World, call: Call, id: unknown): IssueComment | undefined {
  for (const repo of world.repos) {
    if (repo.deleted || call.caller.kind === 'anonymous' || !maySee(world, call.caller, repo)) continue
    for (const thread of [...repo.pulls.values(), ...repo.issues.values()])
      for (const comment of thread.comments) if (nodeId('IssueComment', comment.id) === id) return comment
  }
  return undefined
}

function commentType({ id, edit }: IssueComment): Type {
  return {
    __typename: () => 'IssueComment',
    id: () => nodeId('IssueComment', id),
    lastEditedAt: () => edit?.at ?? null,
    // The first edit keeps what was there before beside it.
    includesCreatedEdit: () => edit !== undefined,
    editor: (wanted) =>
      edit === undefined || edit.by.deleted ? null : select('Actor', actorType(edit.by), wanted),
  }
}

function actorType({ login, type }: Account): Type {
  return {
    __typename: () => type,
    // GraphQL says an App's name without the brackets that REST adds.
    login: () => login.replace(/\[bot\]$/, ''),
  }
}

function select(name: string, type: Type, fields: readonly Selection[]): Payload {
  const found: Payload = {}
  for (const field of fields) {
    if (field.on === true) {
      if (field.name === name) Object.assign(found, select(name, type, field.fields))
      continue
    }
    const resolve = Object.hasOwn(type, field.name) ? type[field.name] : undefined
    if (resolve === undefined) throw new QueryError(`Field '${field.name}' doesn't exist on type '${name}'`)
    found[field.name] = resolve(field.fields)
  }
  return found
}

/** Fields of a query with variables and fragments on types; no aliases, no directives, one variable as argument. */
function parseQuery(text: string): readonly Selection[] {
  const tokens = text.match(/\.\.\.|[{}()!:$]|[A-Za-z_][A-Za-z0-9_]*/g) ?? []
  let at = 0
  const take = (wanted?: string): string => {
    const token = tokens[at++]
    if (token === undefined || (wanted !== undefined && token !== wanted))
      throw new QueryError(`Parse error on "${token ?? 'end of file'}"`)
    return token
  }
  const selections = (): readonly Selection[] => {
    const fields: Selection[] = []
    take('{')
    while (tokens[at] !== '}') {
      if (tokens[at] === '...') {
        take()
        take('on')
        fields.push({ name: take(), on: true, fields: selections() })
        continue
      }
      const name = take()
      let argument: string | undefined
      if (tokens[at] === '(') {
        for (const token of ['(', 'id', ':', '$']) take(token)
        argument = take()
        take(')')
      }
      const inner = tokens[at] === '{' ? selections() : []
      fields.push({ name, fields: inner, ...(argument !== undefined && { argument }) })
    }
    take('}')
    return fields
  }
  if (tokens[at] === 'query') while (tokens[at] !== '{' && at < tokens.length) at += 1
  return selections()
}
