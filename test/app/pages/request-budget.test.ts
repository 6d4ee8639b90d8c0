import { expect, test } from '@jest/globals'
import { clientOf } from '../../../src/app/pages/request-budget.ts'

const from = (remoteAddress: string, forwarded?: string) =>
  clientOf({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } } as never)

test('the zone of an address, which is text of any length, is no part of who asks', () => {
  expect(from('10.0.0.1', `fe80::1%${'z'.repeat(5000)}`)).toBe(from('10.0.0.1', 'fe80::1'))
  expect(from('fe80::1%eth0')).toBe(from('fe80::1'))
  expect(from('10.0.0.1', '203.0.113.9')).toBe('203.0.113.9')
})
