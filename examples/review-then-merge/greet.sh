# Greets a person.
echo "Hello, $1!"
