// What goes over GraphQL is held against GitHub's schema: a validator that finds nothing finds nothing for a reason.
import { describe, expect, test } from '@jest/globals'
import { checkGraphql } from './check-graphql.ts'

const sampleQuery = `query ($owner: String!, $head: GitObjectID!) {
  repository(owner: $owner, name: "operators") {
    object(oid: $head) { ... on Commit { oid } }
    pullRequest(number: 1) { title author { __typename login ... on User { databaseId } } }
  }
}`
const sampleVariables = { owner: 'coast', head: 'a'.repeat(40) }
const sampleData = {
  repository: {
    object: { oid: 'a'.repeat(40) },
    pullRequest: { title: 'x', author: { __typename: 'User', login: 'alice', databaseId: 1 } },
  },
}
const checkSample = (given: { query?: string; variables?: object; data?: unknown }) =>
  checkGraphql({
    requestBody: { query: given.query ?? sampleQuery, variables: given.variables ?? sampleVariables },
    responseBody: { data: given.data ?? sampleData },
  })

describe('GraphQL', () => {
  test('as GitHub has it is fine', () => {
    expect(checkSample({})).toEqual([])
    expect(checkSample({ data: { repository: null } })).toEqual([])
  })
  test.each([
    ['a field', { query: sampleQuery.replace('title', 'heading') }, 'Cannot query field "heading"'],
    ['an argument', { query: sampleQuery.replace('oid:', 'sha:') }, 'Unknown argument "sha"'],
    ['a variable', { variables: { owner: 'coast' } }, '$head'],
    [
      'a type of an answer',
      { data: { repository: { ...sampleData.repository, pullRequest: 1 } } },
      'repository',
    ],
    [
      'null where there is something',
      { data: { repository: { ...sampleData.repository, pullRequest: { title: null, author: null } } } },
      'PullRequest.title',
    ],
  ])('%s that it does not have is told', (_, given, words) => {
    expect(checkSample(given).join('\n')).toContain(words)
  })
})
