/** Values in a schema and its documents together; every 64 characters of text count as one more. */
export const schemaNodes = 100_000

/** Levels of nesting in a schema. */
export const schemaDepth = 256

/** Characters in `$id`, because every relative reference below it is resolved against it. */
export const idLength = 1_024

/** Steps that deciding about one value may take: about one for each schema that is applied to a part of it. */
export const decisionSteps = 2_000_000

/** Steps that explaining a refusal may take; they cost more each, and the refusal already stands. */
export const explanationSteps = 200_000

/** Schemas applied inside one another, whether they follow the value's nesting or the schema's own. */
export const applicationDepth = 1_000

/** Issues that one refusal names. */
export const issueCount = 8

/** Characters of a value that a message shows. */
export const shownLength = 60

/** Values or names that a message lists. */
export const listLength = 12
