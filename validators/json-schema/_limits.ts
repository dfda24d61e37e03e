/** Values in a schema and its documents together. Each 64 characters of text count as one more value. */
export const schemaNodes = 100_000

/** Levels of nesting in a schema. */
export const schemaDepth = 256

/** Characters in `$id`. It is limited because every relative reference below is resolved against it. */
export const idLength = 1_024

/** Steps to validate one value: about one for each schema that is applied to a part of it. */
export const decisionSteps = 2_000_000

/** Steps to explain a refusal. Each costs more time than a step of validation. */
export const explanationSteps = 200_000

/** Schemas applied inside one another, because either the value or the schema is nested. */
export const applicationDepth = 1_000

/** Issues in one refusal. */
export const issueCount = 8

/** Characters of a value in a message. */
export const shownLength = 60

/** Values or names in a message. */
export const listLength = 12
