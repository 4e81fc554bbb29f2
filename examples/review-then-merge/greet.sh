# Greets somebody.
echo "Hello, $1!"
